"""Defective: imports the first hundred entries and never looks at the rest."""

from importer import Importer, main

MOST = 100


class FirstNOnly(Importer):
    def list_files(self):
        files = []
        for page in self.pages("list_files"):
            files += page["files"]
            if len(files) >= MOST:
                break
        return files[:MOST]


main(FirstNOnly)
