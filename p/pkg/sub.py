from .base import Base
class Sym(Base):
    pass
