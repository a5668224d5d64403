"""No secret is in the port.

Why: A port travels to vendors and reviewers, and a signature makes what is in it permanent.
Fix: Revoke the secret first, then remove it; take it from the environment (port.yaml, secrets) where a step needs it.
"""

from collections.abc import Iterator

from calaudit.checks import View, check
from calaudit.checks.common._scan import Pattern, scan
from calaudit.model import Result

PATTERNS = (
    Pattern("a private key", (b"KEY-----",), rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    Pattern("an AWS access key id", (b"AKIA",), rb"\bAKIA[0-9A-Z]{16}\b"),
    # Letters first, their boundary after them: only so does the regex engine leap from one "gh" to the next.
    Pattern("a GitHub token", (b"gh",), rb"gh(?<!\wgh)[pousr]_[A-Za-z0-9]{36,}\b"),
    Pattern("a GitHub token", (b"github_pat_",), rb"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    Pattern("a GitLab token", (b"glpat-",), rb"\bglpat-[A-Za-z0-9_-]{20,}"),
    Pattern("a Hugging Face token", (b"hf_",), rb"\bhf_[A-Za-z0-9]{30,}\b"),
    Pattern("an API key", (b"sk-",), rb"\bsk-(?:[a-z]+-)*[A-Za-z0-9_-]{32,}"),
    Pattern("a Slack token", (b"xox",), rb"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    Pattern("a Google API key", (b"AIza",), rb"\bAIza[0-9A-Za-z_-]{35}\b"),
    Pattern(
        "a JSON web token",
        (b"eyJ",),
        rb"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ),
    Pattern("a URL with a password", (b"://",), rb"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@\"']+:[^\s/@\"'${]{3,}@"),
    Pattern(
        "a licence-server address",
        (b"@",),
        rb"(?<![\w.@/:-])\d{4,5}@[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*",
        shape=b"0000@",
    ),
    Pattern(
        "a credential",
        (b"api", b"access", b"auth", b"secret", b"passw"),
        rb"\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)\b"
        rb"[\"']?\s*[:=]\s*[\"']?(?=[^\s\"']{0,64}\d)(?=[^\s\"']{0,64}[A-Za-z])[A-Za-z0-9+/_.=-]{12,}",
        caseless=True,
        free_text=False,
    ),
)


@check("secret-found", gate="*", kinds=("pass", "fail", "open", "notApplicable"), unwaivable=True)
def secret_found(view: View) -> Iterator[Result]:
    """Search every text of the gate; what is found is shown by its first characters only."""
    for hit in scan(view, PATTERNS):
        yield view.fail(f"This looks like {hit.what} ({hit.text[:4].decode('ascii', 'replace')}…).", at=hit.at)
    if view.examined == 0:
        yield view.not_applicable("There is no text here.")
