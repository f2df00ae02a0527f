"""Builds the compiled kernels where there is a compiler; without one the package installs and runs in plain torch."""

from pathlib import Path

from setuptools import Extension, setup

SOURCES = Path("src/heedful/csrc")
ABI = "cp311"  # one binary for this and every later Python

setup(
    ext_modules=[
        Extension(
            "heedful._kernels",
            sources=sorted(str(path) for path in SOURCES.glob("*.cpp")),
            depends=sorted(str(path) for path in SOURCES.iterdir()),
            # No contraction: where a product and a sum are to be fused, the source says so.
            extra_compile_args=["-std=c++17", "-O3", "-ffp-contract=off", "-fvisibility=hidden", "-g0"],
            extra_link_args=["-pthread", "-ldl"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": ABI}},
)
