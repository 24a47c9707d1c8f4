"""CaMML: causal discovery by minimum message length (Wallace, Korb & Dai 1996)."""
