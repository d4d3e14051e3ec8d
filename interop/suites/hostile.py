class HostileSuite:
    """x"""
    NAME="hostile"
