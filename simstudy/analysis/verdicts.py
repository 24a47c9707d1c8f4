"""The verdicts on claims."""

REPRODUCED, NOT_REPRODUCED, NOT_DECIDED = "reproduced", "not reproduced", "not decided"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED)
