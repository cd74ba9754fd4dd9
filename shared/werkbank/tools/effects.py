"""What a tool can do beyond reading the user's workspace (AG-16)."""

from enum import StrEnum


class Effect(StrEnum):
    """An effect that a run which its user did not start may have only with the user's consent."""

    SEND = "send"
    """Text that the model chose leaves the house: a mail, a search, the address of a page."""
    DELETE = "delete"
    """Something of the user's is lost or altered: deleted, moved, written over."""
    SPEND = "spend"
    """It costs money beyond the model's own answer."""
    WRITE_OUTSIDE = "writeOutside"
    """Another system is changed: an upload, a ticket, a posting."""
