"""The page itself, from its template."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from gradfuzz.report.contents import Contents


def page(report: Contents) -> str:
    """Return the HTML.  All that comes from a case file is escaped, but for our own drawings."""
    text = files("gradfuzz.report").joinpath("page.html.jinja").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.from_string(text).render(report=report)
