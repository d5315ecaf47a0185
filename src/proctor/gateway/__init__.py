"""The one door between agents and worlds: permission, fault, call, record."""
