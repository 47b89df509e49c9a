-- what the query costs
select count(*)
from orders;

--  COUNT(*)
-- ----------
--       4711
--
-- 1 row selected.
--
-- Elapsed: 01:33:41.05
--
-- Plan hash value: 1493611343
--
-- ------------------------------------
-- | Id  | Operation         | Name   |
-- ------------------------------------
-- |   0 | SELECT STATEMENT  |        |
-- |   1 |  TABLE ACCESS FULL| ORDERS |
-- ------------------------------------

/* and once more
Elapsed: 00:07:19.25*/
