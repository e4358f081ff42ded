"""Views of an episode for pages: versions of the plan, drawings, and the house."""
