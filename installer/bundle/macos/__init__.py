"""The macOS app and its disk image. What macOS reads and the commands that sign are data; macOS alone runs them."""
