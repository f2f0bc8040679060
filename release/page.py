"""What PyPI shows: README with links that lead somewhere there, and the addresses of the project.

README's links are relative, so that they work in every clone. A release names its repository in
FAIRFIELD_REPOSITORY (.github/workflows/release.yml); links then lead to the files of its tag.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r'(\]\(|src=")(?!https?:|#)')


def absolute(text: str, repository: str, version: str) -> str:
    """A page whose links and pictures are those of a version of a repository."""
    kinds = {"](": "blob", 'src="': "raw"}
    return RELATIVE.sub(lambda at: f"{at[1]}{repository}/{kinds[at[1]]}/v{version}/", text)


class Page(MetadataHookInterface):
    def update(self, metadata: dict) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        if repository := os.environ.get("FAIRFIELD_REPOSITORY"):
            text = absolute(text, repository, metadata["version"])
            metadata["urls"] = {
                "Repository": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/v{metadata['version']}/CHANGELOG.md",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
