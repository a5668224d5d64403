"""Small contract documents to break."""

from typing import Any

from calaudit.contract.gates import Gates, parse_gates


def artifact(name: str = "report", path: str = "00-source/report.json", **more: Any) -> dict[str, Any]:
    return {"name": name, "path": path, "format": "json", **more}


def gate(number: int = 0, *artifacts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": f"G{number}",
        "name": f"gate-{number}",
        "title": "A gate",
        "owner": "model",
        "output": "something",
        "back_to": "the start",
        "threshold": ["a-rule"],
        "artifacts": list(artifacts) or [artifact(f"report-{number}", f"0{number}-x/report.json")],
        **more,
    }


def document(*gates: dict[str, Any], port: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "schema": "calaudit-gates/v1",
        "gates": list(gates) or [gate()],
        "port": port or [artifact("port", "port.yaml", format="yaml")],
        "placeholders": {"words": ["TBD"], "zero": ["bytes"]},
    }


def gates(*found: dict[str, Any], port: list[dict[str, Any]] | None = None) -> Gates:
    return parse_gates(document(*found, port=port))
