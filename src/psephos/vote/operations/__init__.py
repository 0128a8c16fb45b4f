"""Operations: the closed set of forms that every vote is read as, whatever it was fitted by."""
