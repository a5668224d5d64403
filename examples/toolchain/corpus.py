# ruff: noqa: RUF001 - letters of many scripts are the point
"""The texts of the prompt corpus, by category, and texts of an exact number of tokens.

Everything is written here or composed by counting, so the corpus is the same wherever it is built.
"""

from collections.abc import Iterator

from tokenizers import Tokenizer

__all__ = ["BOUNDARY_LENGTHS", "NEAR_MAX_LENGTHS", "OVER_LENGTHS", "TEXTS", "function", "listing", "text_of_length"]

BOUNDARY_LENGTHS = (1, 16, 128, 1024, 2047)
"""Prompts of exactly these lengths stand at the corners of the graph's shapes; the last is one below the context."""

NEAR_MAX_LENGTHS = (1960, 2048)
"""Further prompts that nearly or wholly fill the context of 2048 tokens."""

OVER_LENGTHS = (2049, 2600)
"""Prompts that must be refused."""

_VERBS = ("find", "parse", "close", "update", "remove", "write", "check")
_NOUNS = ("name", "value", "index", "module", "line", "error", "object", "file", "list", "key", "token")
_ERRORS = ("ValueError", "TypeError", "KeyError", "OSError", "RuntimeError")


def function(number: int) -> str:
    """A small Python method, another one for every number."""
    verb, noun = _VERBS[number % len(_VERBS)], _NOUNS[number % len(_NOUNS)]
    other, error = _NOUNS[(number * 3 + 1) % len(_NOUNS)], _ERRORS[number % len(_ERRORS)]
    return (
        f"def {verb}_{noun}(self, {other}, limit={number * 7 % 100}):\n"
        f'    """Return the {noun} that belongs to {other}."""\n'
        f"    if {other} is None or len({other}) > limit:\n"
        f"        raise {error}('no {noun} for %r' % {other})\n"
        f"    for item in self._{noun}_cache:\n"
        f"        if item.{other} == {other}:\n"
        f"            return item\n"
        f"    return self.{verb}({other}[{number % 4}:])\n\n"
    )


def listing(functions: int) -> str:
    """A class of so many methods."""
    return "class Registry(dict):\n" + "".join(
        "".join(f"    {line}\n" if line else "\n" for line in function(n).split("\n")[:-1]) for n in range(functions)
    )


def text_of_length(tokenizer: Tokenizer, text: str, length: int) -> str:
    """The shortest beginning of ``text`` that tokenizes to exactly ``length`` ids.

    Where a text is cut changes how its end is tokenized, so every cut near the right place is tried.

    Raises:
        ValueError: no beginning has that length.
    """
    if length == len(tokenizer.encode("").ids):
        return ""
    ends = [end for _, end in tokenizer.encode(text).offsets]
    if length > len(ends):
        raise ValueError(f"the text has {len(ends)} tokens, fewer than {length}; make it longer")
    for cut in range(max(ends[length - 1] - 16, 0), ends[length - 1] + 17):
        if len(tokenizer.encode(text[:cut]).ids) == length:
            return text[:cut]
    raise ValueError(f"no beginning of the text tokenizes to exactly {length} ids; change the text")


def _code() -> Iterator[str]:
    for number in range(12):
        yield function(number)
    for number in range(12, 20):
        yield function(number).rpartition("return")[0] + "return "
    yield "class Point:\n    def __init__(self, x, y):\n        self.x, self.y = x, y\n\n    def __str__(self):\n"
    yield "try:\n    from _thread import RLock\nexcept ImportError:\n    RLock = None\n"
    yield "with open(path, 'rb') as f:\n    data = f.read()\nfor line in data.split(b'\\n'):\n    print(line)\n"
    yield "if __name__ == '__main__':\n    import sys\n    sys.exit(main(sys.argv[1:]))\n"
    yield "lambda x, y=0: [i ** 2 for i in range(x) if i % 2 == y]\n"
    yield "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)\n    self._lock = Lock()\n    "
    yield "import re\n\n_WORD = re.compile(r'[A-Za-z_][A-Za-z0-9_]*')\n\n\ndef words(text):\n    return _WORD."
    yield '{"name": "port", "steps": [{"run": ["python", "build.py"], "network": false}]}\n'
    yield "SELECT id, name FROM users WHERE age >= 21 AND city = 'Oslo' ORDER BY name;\n"
    yield 'int main(void) {\n    for (int i = 0; i < 10; i++) {\n        printf("%d\\n", i);\n    }\n    return 0;\n}\n'


def _numbers() -> Iterator[str]:
    yield from (
        "0123456789 0123456789 0123456789",
        "3.14159265358979",
        "1e-5 + 2.5e10 = 25000000000.00001",
        "0x1F 0b101 0o17",
    )
    yield from ("1/3 = 0.3333333333", "2026-08-02 23:59:59", "-273.15, 0, 36.6, 100", "1 1 2 3 5 8 13 21 34 55 89 144")
    yield " ".join(str(n * n) for n in range(1, 25))
    yield " ".join(str(2**n) for n in range(20))
    yield ", ".join(str(n * 7919 % 10007) for n in range(1, 20))
    yield "\n".join(f"{n},{n * 31 % 97},{n * 0.25}" for n in range(1, 10))
    yield " ".join(f"{n}:{n * 1103515245 % 65536}" for n in range(1, 12))
    yield "x = [1.5, 2.25, -3.125, 4.0625, 1000000.0, 0.001]"
    yield "[100, 200, 3000], [40000, 512, 6144], [70, 1024, 2048]"
    yield "192.168.0.1 255.255.255.0 10.0.0.254"
    yield "١٢٣٤٥٦٧٨٩٠ 12345"


TEXTS: dict[str, tuple[str, ...]] = {
    "shortest": ("a", " ", "\n", "0"),  # the empty text is boundary-0001
    "special-tokens": (
        "<|im_start|>user\nhi<|im_end|>\n",
        "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nWhat is None?<|im_end|>\n<|im_start|>assistant\n",
        "<|eos|>",
        "<|pad|><|pad|>x",
        "<|bos|><|bos|>",
        "text <|im_end|> more",
        "def f(x):\n    return x<|eos|>import os\n",
        "<|im_start|><|im_start|><|im_start|>",
        "<|im_end|>\n<|im_start|>user\n<|im_end|>\n",
        "a<|pad|>b<|bos|>c<|eos|>d<|im_start|>e<|im_end|>f",
        "<|im_start|>user\n<|not_special|> <|eos<|eos|>|><|im_end|>\n",
    ),
    "multilingual": (
        "你好，世界。这是一个测试。",
        "机器学习模型的量化与编译。",
        "中文、日本語、한국어 混在文本 with English.",
        "こんにちは世界。これはテストです。",
        "カタカナとひらがなと漢字",
        "안녕하세요 세계. 이것은 시험입니다.",
        "Привет, мир. Это тест.",
        "Українська мова, їжак і ґанок.",
        "Γειά σου Κόσμε, αυτό είναι ένα τεστ.",
        "مرحبا بالعالم، هذا اختبار.",
        "שלום עולם, זה מבחן.",
        "สวัสดีชาวโลก นี่คือการทดสอบ",
        "नमस्ते दुनिया, यह एक परीक्षण है।",
        "வணக்கம் உலகம்",
        "გამარჯობა მსოფლიო",
        "Բարեւ աշխարհ",
        "ሰላም ልዑል",
        "Chào thế giới, đây là một bài kiểm tra. こんにちは",
        "Zażółć gęślą jaźń, naïve café, Ångström, İstanbul, Ελλάδα.",
        "def größe(имя): return 名前  # 🙂🙃",
    ),
    "code": tuple(_code()),
    "numbers": tuple(_numbers()),
    "repetition": (
        *("ab " * n for n in (8, 50, 150)),
        "\n" * 20,
        "a" * 100,
        " " * 64,
        "the the " * 30,
        "0 " * 80,
        "你好" * 24,
        "()" * 40,
        "self.x = x\n" * 20,
        "    return None\n" * 16,
        "<|im_end|>" * 12,
        "=" * 79 + "\n" + "=" * 79,
    ),
}
