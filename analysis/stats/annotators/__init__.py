"""How carefully one person answers: speed, known answers, straight lining and drift."""
