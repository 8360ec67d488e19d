from typing import Generic, TypeVar
T = TypeVar("T")
REG = []
class Base:
    def __init_subclass__(cls):
        for k in "a":
            REG.append(cls)
