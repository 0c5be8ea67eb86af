"""Shell commands that do no harm: words, simple commands, compound commands, and the promise about all of them."""
