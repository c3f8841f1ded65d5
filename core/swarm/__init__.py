"""What is added to hivemind, one concern a file."""

import multiprocessing

# To be settled before anything of hivemind is made: its averagers cannot be pickled, which any other method would do.
if multiprocessing.get_start_method(allow_none=True) is None:
    multiprocessing.set_start_method("fork")
