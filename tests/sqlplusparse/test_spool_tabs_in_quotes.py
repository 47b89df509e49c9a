"""Tab stops count from where a line began: a quoted session with tabs has the plans of the session."""

import pytest
from polars.testing import assert_frame_equal
from transformations import quoted

from sqlplusparse import read_spool

#: SET TAB ON writes the indent of deep steps as a tab.
SESSION = """SQL> explain plan for select * from a;

Explained.

Execution Plan
----------------------------------------------------------
Plan hash value: 4711

----------------------------------------------------
| Id  | Operation\t\t     | Name |
----------------------------------------------------
|   0 | SELECT STATEMENT     |\t    |
|   1 |  NESTED LOOPS\t     |\t    |
|   2 |   NESTED LOOPS\t     |\t    |
|   3 |    NESTED LOOPS      |\t    |
|   4 |     NESTED LOOPS     |\t    |
|   5 |      NESTED LOOPS    |\t    |
|   6 | \tTABLE ACCESS FULL  | A    |
|   7 | \tTABLE ACCESS FULL  | B    |
----------------------------------------------------

SQL>
"""


@pytest.mark.parametrize("mark", ["> ", ">", ">> "])
def test_plans_of_a_quoted_session(mark: str) -> None:
    """Parents of steps follow from their indent."""
    plans = read_spool(SESSION.encode()).plans
    other = read_spool(quoted(SESSION, mark).encode()).plans

    assert plans.height == 8
    assert_frame_equal(other, plans)
