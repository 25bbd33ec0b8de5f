-- A part whose rows were all deleted stays, empty, until it is merged: the service notices a part that disappears, and
-- this one would look like it.
ALTER TABLE usage_events${LOCAL} ${ON_CLUSTER} MODIFY SETTING remove_empty_parts = 0;
