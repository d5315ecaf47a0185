"""The reference: reads everything, writes each new row once where it belongs, reports the rest, accounts for all."""

from importer import main

main()
