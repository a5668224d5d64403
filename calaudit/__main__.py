"""``python -m calaudit``."""

from calaudit.cli import main

if __name__ == "__main__":
    main()
