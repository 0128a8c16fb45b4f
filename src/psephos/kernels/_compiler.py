"""Skips work that numba does twice, or for nothing, while it compiles kernels.

An acceleration of first fits: without it `jit` compiles the same kernels, to the same answers, in
up to twice the time (DECISIONS/0023). numba optimises each kernel and writes its machine code, then
optimises it again, and writes it again, within each kernel that calls it; it compares all its
options anew each time it looks for a function; it looks anew for what each ``+`` means and how
large each type is; and it finds, after each step, which variables live in each block, which
generators and interpreted code alone read.
"""

from typing import Any, ClassVar, Literal

from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import enforce_no_dels, enforce_no_phis
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.transforms import canonicalize_cfg
from numba.core.typed_passes import IRLegalization, NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction, Function
from numba.core.untyped_passes import InlineClosureLikes

_found: dict[Any, Any] = {}
_sizes: dict[tuple[Any, str], int] = {}
_before: list[list[Any]] = []
_UNUSED = (InlineClosureLikes, NopythonRewrites)  # rewrite inner functions and whole arrays
_process, _measure = PostProcessor.run, BaseContext.get_abi_sizeof


def _call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return what a function of numba's makes of types, looked up once."""
    if kws:
        return BaseFunction.get_call_type(function, context, args, kws)
    key = (context, function, args)
    if key not in _found:
        _found[key] = BaseFunction.get_call_type(function, context, args, kws)
    return _found[key]


def _size_of(context: Any, kind: Any) -> int:
    """Return the size of a type, for which LLVM reads a program, looked up once."""
    if "%" in str(kind):  # a name, which may stand for another type elsewhere
        return _measure(context, kind)
    key = (context.target_data, str(kind))
    if key not in _sizes:
        _sizes[key] = _measure(context, kind)
    return _sizes[key]


def _processed(work: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Process code between passes, but for what generators and interpreted code alone read."""
    code = work.func_ir
    if code.is_generator:
        _process(work, emit_dels, extend_lifetimes)
        return
    code.blocks = canonicalize_cfg(code.blocks)
    code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None
    if emit_dels:
        work._insert_var_dels(extend_lifetimes=extend_lifetimes)


_SHORTCUTS: tuple[tuple[Any, str, Any], ...] = (
    (Function, "get_call_type", _call_type),
    (BaseContext, "get_abi_sizeof", _size_of),
    (PostProcessor, "run", _processed),
)


def take_shortcuts(now: bool) -> None:
    """From now on, or no more, let numba use the three functions above in place of its own."""
    if now:
        _before.append([vars(owner).get(name) for owner, name, _ in _SHORTCUTS])
        for owner, name, ours in _SHORTCUTS:
            setattr(owner, name, ours)
        return
    for (owner, name, _), before in zip(_SHORTCUTS, _before.pop(), strict=True):
        if before is None:  # it is inherited
            delattr(owner, name)
        else:
            setattr(owner, name, before)


class _Options(Flags):
    """numba's options, told apart by those that are set; numba looks at each of thirty."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash((self.nrt, self.no_cpython_wrapper, self.fastmath is None))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Options) and self._values == other._values)


class OuterCompiler(CompilerBase):
    """Compiles a kernel that Python calls."""

    others: ClassVar[dict[Any, Any]] = {}  # passes in place of numba's

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, names: Any
    ):
        super().__init__(typing, target, library, args, result, _Options(flags), names)

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        others = self.others
        if not self.state.flags.nrt:
            others = {**others, IRLegalization: _NothingFreed, **dict.fromkeys(_UNUSED)}
        passes = [(others.get(p, p), why) for p, why in pipeline.passes]
        pipeline.passes[:] = [(p, why) for p, why in passes if p is not None]
        pipeline.finalize()
        return [pipeline]


@register_pass(mutates_CFG=False, analysis_only=True)
class _NothingFreed(IRLegalization):
    """numba's, without a step for the end of each variable, where nothing is to be freed."""

    _name = "psephos_ir_legalization"

    def run_pass(self, state: Any) -> Literal[True]:
        enforce_no_phis(state.func_ir)
        enforce_no_dels(state.func_ir)
        PostProcessor(state.func_ir).run()
        return True


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


class InnerCompiler(OuterCompiler):
    """Compiles a kernel that kernels alone call: its machine code is written in theirs."""

    others: ClassVar[dict[Any, Any]] = {NativeLowering: _InnerLowering}
