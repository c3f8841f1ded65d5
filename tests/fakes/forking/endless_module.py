"""Importing this module lasts until the process is killed."""

import time

while True:
    time.sleep(60)
