class ClientsSuite:
    """Stock clients and tools."""
    NAME="clients"
