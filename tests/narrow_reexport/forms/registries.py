"""A tree in memory with every manner of registry, and what a module of it registers."""

from __future__ import annotations

from textwrap import dedent

from codemods.engine.model import Module
from codemods.engine.namespace import Namespaces
from codemods.narrow_reexport.forms.registration import registrations

REG = """
KNOWN = []
TABLE = {}
def register(f):
    KNOWN.append(f.__name__)
    return f
def named(name):
    def inner(f):
        TABLE[name] = f
        return f
    return inner
def optional(f=None, *, name=None):
    def inner(g):
        TABLE[name or g.__name__] = g
        return g
    return inner if f is None else inner(f)
def hop(f):
    return register(f)
def nested(key):
    return lambda f: TABLE.setdefault(key, []).append(f)
def aliased(f):
    table = TABLE
    table[f.__name__] = f
def latest(f):
    global LAST
    LAST = f
LAST = None
def passes(f):
    def wrapper(*args):
        TABLE[args] = f(*args)
        return TABLE[args]
    return wrapper
def marks(f):
    f.marked = True
    return f
def endless(f):
    return endless(f)
class Registry:
    def __init__(self):
        self.all = {}
    def register(self, name):
        def inner(f):
            self._put(name, f)
            return f
        return inner
    def _put(self, name, f):
        self.all[name] = f
    def __call__(self, f):
        self.all[f.__name__] = f
        return f
REGISTRY = Registry()
class Made:
    def __new__(cls, f=None, **options):
        if f is None:
            return partial(Made, **options)
        self = object.__new__(cls)
        self.f = f
        TABLE[f.__name__] = self
        return self
class Into:
    def __init__(self, table):
        self.table = table
    def __call__(self, f):
        self.table.append(f)
        return f
class Base:
    items = {}
    def __init_subclass__(cls, **options):
        super().__init_subclass__()
        cls.items[cls.__name__] = cls
    @classmethod
    def register(cls, sub):
        cls.items[sub.__name__] = sub
        return sub
class Meta(type):
    def __new__(mcs, name, bases, body):
        new = super().__new__(mcs, name, bases, body)
        TABLE[name] = new
        return new
class WithMeta(metaclass=Meta):
    pass
class Plain:
    def __init_subclass__(cls):
        cls.name = cls.__name__
"""
REG = "from functools import partial\n" + REG
DEF = "\ndef sym(): ...\n"


def found(text: str, registry: str = REG, **more: str) -> list[tuple[str, bool | None]]:
    files = {"pkg/__init__.py": "", "pkg/reg.py": registry, "pkg/sub.py": dedent(text)}
    files |= {f"pkg/{name}.py": body for name, body in more.items()}
    modules = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in files}

    def locate(name: str) -> Module | None:
        return Module(name, modules[name], name == "pkg") if name in modules else None

    module = locate("pkg.sub")
    assert module is not None
    return [
        (each.callee, each.stores) for each in registrations(module, Namespaces(locate, lambda p: files[p].encode()))
    ]
