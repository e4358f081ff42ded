"""Signs of care in one person's answers: speed, known answers, straight lining and drift."""
