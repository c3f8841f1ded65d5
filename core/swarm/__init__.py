"""What is added to hivemind, one concern a file."""

import multiprocessing

# To be settled before anything of hivemind is made: its averagers cannot be pickled, which any other method would do.
# By force: Python 3.14 has another method by default, and what a library made while it was imported has chosen that.
multiprocessing.set_start_method("fork", force=True)
