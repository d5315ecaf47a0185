"""Takes the case in by the policy."""

from desk import Clerk

Clerk().run()
