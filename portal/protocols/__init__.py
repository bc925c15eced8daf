"""Protocols that were there before us, spoken to clients that know nothing of Quartermaster."""
