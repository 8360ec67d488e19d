import pkg
from pkg.base import REG
print(len(REG))
