"""What a factor, and a class of differences, means to whoever has to mend it: what depends on it, and what helps."""

from calaudit.execute.rebuild.nouns import Class, Factor

__all__ = ["CLASS_OF", "CLASS_REMEDY", "DEPENDS_ON", "REMEDY"]

CLASS_OF = {
    Factor.BUILD_PATH: Class.PATH,
    Factor.HOME: Class.PATH,
    Factor.HOSTNAME: Class.HOST,
    Factor.USER: Class.HOST,
    Factor.UMASK: Class.HOST,
    Factor.LOCALE: Class.LOCALE,
    Factor.TIME_ZONE: Class.LOCALE,
    Factor.HASH_SEED: Class.ORDER,
    Factor.FILE_ORDER: Class.ORDER,
    Factor.CPU_COUNT: Class.ORDER,
    Factor.CLOCK: Class.TIMESTAMP,
    Factor.ADDRESSES: Class.ADDRESS,
    Factor.KERNEL: Class.HOST,
}
"""The class of what only this factor makes show."""

DEPENDS_ON = {
    Factor.BUILD_PATH: "depends on the folder in which it is built",
    Factor.HOME: "depends on the home of whoever builds it",
    Factor.HOSTNAME: "depends on the name of the machine",
    Factor.USER: "depends on the user who builds it",
    Factor.UMASK: "depends on the umask",
    Factor.LOCALE: "depends on the locale (LC_ALL)",
    Factor.TIME_ZONE: "depends on the time zone (TZ)",
    Factor.HASH_SEED: "depends on PYTHONHASHSEED, so on the order of a Python set or on hash()",
    Factor.FILE_ORDER: "depends on the order in which the file system lists names",
    Factor.CPU_COUNT: "depends on the number of processors",
    Factor.CLOCK: "depends on the date",
    Factor.ADDRESSES: "depends on where the system puts things in memory",
    Factor.KERNEL: "depends on the release of the kernel (uname -r)",
}
"""The end of a sentence about what differs."""

REMEDY = {
    Factor.BUILD_PATH: "Write paths relative to the port, or map the folder away (-ffile-prefix-map for compilers).",
    Factor.HOME: "Read nothing from the home, and leave its path out of products.",
    Factor.HOSTNAME: "Leave the name of the machine out of products; provenance says who built them.",
    Factor.USER: "Leave the user out of products, and store owner and group as 0 in archives.",
    Factor.UMASK: "Set the modes of files yourself: 0644, and 0755 for programs.",
    Factor.LOCALE: "Set LC_ALL in the step's env, or format and sort without the locale.",
    Factor.TIME_ZONE: "Write times in UTC, or set TZ in the step's env.",
    Factor.HASH_SEED: "Sort sets before you write them; setting PYTHONHASHSEED in the step's env only hides it.",
    Factor.FILE_ORDER: "Sort what os.listdir, glob or readdir give.",
    Factor.CPU_COUNT: "Put the results of parallel work in a fixed order, or fix the number of threads.",
    Factor.CLOCK: "Leave times out, or take them from SOURCE_DATE_EPOCH.",
    Factor.ADDRESSES: "Leave addresses and id() out of products, and sort by something else than them.",
    Factor.KERNEL: "Leave the kernel's release out of products, and decide nothing by it.",
}
"""What to do about a factor."""

CLASS_REMEDY = {
    Class.TIMESTAMP: REMEDY[Factor.CLOCK],
    Class.PATH: REMEDY[Factor.BUILD_PATH],
    Class.HOST: REMEDY[Factor.HOSTNAME],
    Class.ADDRESS: REMEDY[Factor.ADDRESSES],
    Class.ORDER: "Sort before you write: the order of sets, of threads and of directories is nobody's promise.",
    Class.RANDOMNESS: "Seed every random generator, and derive ids from what goes in (UUIDv5, a digest).",
    Class.LOCALE: REMEDY[Factor.LOCALE],
    Class.UNDECLARED: "Find out where it comes from; until then the product cannot be checked by building it again.",
}
"""What to do about a class, where no factor is known."""
