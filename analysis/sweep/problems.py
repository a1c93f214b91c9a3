"""What a user is told: FILE:LINE: what; remedy."""


class StudyError(Exception):
    """The study, the folder or the command line is wrong; the message says where and what helps."""


class Interrupted(Exception):
    """The sweep is being stopped: what a child did until then counts for nothing."""
