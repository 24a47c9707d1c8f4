"""Decision trees and graphs of least message length (Wallace & Patrick 1993; Oliver 1993)."""
