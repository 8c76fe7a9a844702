"""``underfelt web``: the floor and the tables in a browser.

A process of its own, without authority: it follows the feeds of table, link server and simulator
and passes orders on with the passwords that people typed. Nothing else imports it.
"""
