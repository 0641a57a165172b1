"""What the nox sessions share: which packages there are, how wheels are built, how tests are run.

Standard library only, so that noxfile.py can import it before any environment exists.
"""
