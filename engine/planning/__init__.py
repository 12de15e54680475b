"""Planning by search: task goal and obligations over the action theory, on clingo."""
