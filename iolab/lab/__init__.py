"""JupyterLab: the copy of the notebooks that it opens, the field that takes uploads, and the notebooks as pages."""

from iolab.lab.copies import (
    DEFAULT_FOLDER,
    FIRST,
    RECORD,
    LabCopy,
    copy_lab,
    find_lab_files,
    lab_command,
)

__all__ = [
    "DEFAULT_FOLDER",
    "FIRST",
    "RECORD",
    "LabCopy",
    "copy_lab",
    "find_lab_files",
    "lab_command",
]
