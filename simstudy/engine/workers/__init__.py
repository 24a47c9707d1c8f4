"""The processes that compute cells, here and on a Dask cluster."""
