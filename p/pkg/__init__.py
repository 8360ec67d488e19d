from .light import light
from .sub import Sym
