"""Pictures as plain coordinates: templates and script only draw them."""
