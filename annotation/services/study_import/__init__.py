"""Making a study anew from the document in which it was exported."""
