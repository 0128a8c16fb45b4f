"""Skips work that numba does twice for kernels called by kernels.

An acceleration of first fits: without it `jit` compiles the same kernels, to the same answers, in
up to twice the time (DECISIONS/0023). numba optimises each kernel and writes its machine code, then
optimises it again, and writes it again, within each kernel that calls it; it compares all its
options anew each time it looks for a function; and it looks anew for what each ``+`` means.
"""

from typing import Any, Literal

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering
from numba.core.types.functions import BaseFunction, Function

_found: dict[Any, Any] = {}
_before: list[Any] = []


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    if kws:
        return BaseFunction.get_call_type(function, context, args, kws)
    key = (context, function, args)
    if key not in _found:
        _found[key] = BaseFunction.get_call_type(function, context, args, kws)
    return _found[key]


def remember_types(now: bool) -> None:
    """From now on or no more look up once what a function of numba's makes of types."""
    functions: Any = Function
    if now:
        _before.append(vars(Function).get("get_call_type"))
        functions.get_call_type = _call_type
    elif (before := _before.pop()) is None:  # it is inherited
        del functions.get_call_type
    else:
        functions.get_call_type = before


class _Options(Flags):
    """numba's options, told apart by those that are set; numba looks at each of thirty."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((self.nrt, self.no_cpython_wrapper, self.fastmath is None))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Options) and self._values == other._values)


class OuterCompiler(CompilerBase):
    """Compiles a kernel that Python calls."""

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any
    ):
        super().__init__(typing, target, library, args, result, _Options(flags), names)

    def define_pipelines(self) -> list[Any]:
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


class InnerCompiler(OuterCompiler):
    """Compiles a kernel that kernels alone call: its machine code is written in theirs."""

    def define_pipelines(self) -> list[Any]:
        (pipeline,) = super().define_pipelines()
        inner = [(_InnerLowering if p is NativeLowering else p, why) for p, why in pipeline.passes]
        pipeline.passes[:] = inner
        pipeline.finalize()
        return [pipeline]


class _Linked(JITCodeLibrary):
    """The code of a kernel and of those it calls, neither optimised as a whole nor emitted."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """numba's, which leaves code that other kernels are linked with and nothing calls."""

    _name = "psephos_inner_lowering"

    def run_pass(self, state: Any) -> Literal[True]:
        name = state.func_id.func_qualname
        state.library = _Linked(state.targetctx.codegen(), name)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        key = object()  # what numba finds the code by, elsewhere a function that Python calls
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True
