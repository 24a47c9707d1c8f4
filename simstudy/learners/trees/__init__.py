"""Decision trees and graphs: C4.5, and by minimum message length."""
