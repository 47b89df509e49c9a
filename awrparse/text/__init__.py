"""Text reports: lines are classified, joined to sections, cut into cells and gathered to tables.

`lines` says what each line is, `sections` and `building` put them together, `layout` finds the columns, `rows` and
`labels` make the records.
"""
