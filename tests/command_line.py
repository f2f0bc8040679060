"""What tests of the command line read and expect."""

import csv
import json
from pathlib import Path


def read(path):
    """The lines of a CSV file as dicts."""
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page_data(path):
    """The summary inside an HTML report."""
    page = Path(path).read_text(encoding="utf-8")
    _, _, rest = page.partition('<script type="application/json" id="data">')
    return json.loads(rest.partition("</script>")[0])


def refused(result, sentence):
    """The command ended with one sentence on the error stream, exit code 2 and no traceback."""
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert sentence in result.stderr
    assert result.stderr.rstrip("\n").count("\n") == 0
    assert "Traceback" not in result.output
