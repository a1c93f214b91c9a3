"""Twins of the kernels are GLSL with the kernel's accesses; listings and dumps are read as Mesa and fmtrace print them."""

import collections
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "isa"))

import check  # noqa: E402
import compile as twins  # noqa: E402
import listing  # noqa: E402
from translate import KERNELS, TranslationError, translate, unroll  # noqa: E402
from variants import FAMILIES, LINEAR_KERNELS, variants  # noqa: E402

ADRENO = """MESA: info: mov.u32u32 r1.x, c0.x
MESA: info: l2:
MESA: info: (jp)(rpt2)nop
MESA: info: isaml (f32)(xyzw)r0.y, r5.z, r12.x, s#0, t#0
MESA: info: (sy)mad.f32 r0.x, r0.y, r1.x, r0.x
MESA: info: (nop3) add.f r0.x, r0.x, r1.x
MESA: info: ldib.b.typed.1d.u32.2.imm r2.x, r3.x, 0
MESA: info: stc.u32 c[4], r0.x, 1
MESA: info: br p0.x, #l2
MESA: info: stib.b.typed.2d.f32.4.imm r0.x, r4.w, 0
MESA: info: (jp)end
MESA: info: ; CL: outputs:
MESA: info: ; CL prog 5/1: 10 instr, 1 nops, 9 non-nops, 1 mov, 0 cov, 24 dwords
MESA: info: ; CL prog 5/1: 0 last-baryf, 9 half, 4 full, 8 constlen
"""

MALI = ("SHADER-DB: MESA_SHADER_COMPUTE shader: 306 inst, 8.0 cycles, 1.5 fma, 2.75 cvt, 0.75 sfu, 0.0 v, 3.5 t, "
        "8.0 ls, 160 quadwords, {threads} threads, 2 loops, 3:4 spills:fills\n")

DUMP = """program 2: kernel conv, 8x8x1 work-items, 3x3x1 work-groups
  if 32 * group.x < 96
    for i0 = 0; i0 < 3; i0 += 1
      for i1 = 0; i1 < 3; i1 += 1
        for i2 = 0; i2 < 16; i2 += 1
          for i3 = 0; i3 < 4; i3 += 1
            if i1 >= 0
              site 0: global read argument 0, 8 bytes at 8 * i1
          for i4 = 0; i4 < 4; i4 += 1
            for i5 = 0; i5 < 2; i5 += 1
              site 1: image read argument 2, 8 bytes at i4, i5
          32 x FMA
    for i6 = 0; i6 < 2; i6 += 1
      site 2: global read argument 4, 8 bytes at 8 * i6
      site 3: global write argument 6, 8 bytes at 256 * group.x
"""


class Twins(unittest.TestCase):
    def test_every_kernel_has_twins(self):
        kernels = {path.stem for path in KERNELS.glob("*.cl")}
        self.assertEqual({family.kernel for family in FAMILIES} | LINEAR_KERNELS, kernels)

    def test_a_twin_of_each_form_is_free_of_opencl(self):
        seen = collections.Counter()
        for variant in variants():
            form = (variant.family.kernel, variant.memory, variant.half)
            if seen[form]:
                continue
            seen[form] += 1
            text = translate(variant.family.kernel, variant.defines(), variant.family.local_size, variant.half)
            left = re.search(r"__kernel|\bfloat4\b|fm_real4|\b(vload|convert_|read_image)\w*|\bFM_\w+|DECLARE|UNROLL|SHARED\(|"
                             r"\((float|int)\d?\)\s*\(", text)
            self.assertIsNone(left, f"{form}: {left}")
            self.assertEqual(text.count("{"), text.count("}"), form)
        self.assertGreater(len(seen), 30)

    def test_a_twin_makes_the_kernels_accesses(self):
        variant = next(v for v in variants(kernels=["matmul"])
                       if v.words() == "TILE_M=4 TILE_N4=1 B_TRANSPOSED=0" and v.memory == "image")
        text = translate("matmul", variant.defines(), (8, 8, 1))
        # Unrolled: four rows of a, four texels of b, the same in the tail of K (one of b), the bias; four rows of c.
        self.assertEqual(text.count("texelFetch("), 4 + 4 + 4 + 1 + 1)
        self.assertEqual(text.count("imageStore("), 4)

    def test_loops_are_unrolled_where_the_source_asks(self):
        text = ("a; UNROLL for (int i = (0); i < (2 * 2); i += (2)) "
                "{ b[i] = v.i; UNROLL for (int j = 0; j < 2; ++j) c[i][j]; } d;")
        flat = re.sub(r"[{}\s]", "", unroll(text))
        self.assertEqual(flat, "a;b[0]=v.i;c[0][0];c[0][1];b[2]=v.i;c[2][0];c[2][1];d;")
        with self.assertRaises(TranslationError):
            unroll("UNROLL for (int i = (0); i < (width); i += (1)) { }")


class Listings(unittest.TestCase):
    def test_adreno(self):
        found = listing.Adreno().read(ADRENO)
        self.assertEqual(found.registers, 20)  # nine halves take five registers of four, more than four
        self.assertEqual((found.whole.instructions, found.whole.texture, found.whole.load_store), (10, 1, 2))
        self.assertEqual(found.loop, listing.Counts(instructions=7, fma=2, texture=1, load_store=1))

    def test_bifrost(self):
        line = MALI.replace("1.5 fma, 2.75 cvt, 0.75 sfu, 0.0 v, 3.5 t, 8.0 ls",
                            "222 tuples, 41 clauses, 8.5 arith, 7.0 texture, 0.0 vary, 8.0 ldst")
        found = listing.Bifrost().read(line.format(threads=1))
        self.assertEqual((found.registers, found.spills, found.fills), (64, 3, 4))
        self.assertEqual((found.whole.texture, found.whole.load_store), (14, 8))
        self.assertEqual(listing.Bifrost().read(line.format(threads=2)).registers, 32)

    def test_an_unknown_output_is_refused(self):
        for reader in (listing.Bifrost(), listing.Adreno()):
            with self.assertRaises(listing.ListingError):
                reader.read("Segmentation fault")


class Checks(unittest.TestCase):
    def test_a_step_of_a_convolution(self):
        self.assertEqual(check.recorded(DUMP, "conv", {"POINTWISE": "0"}), ({"image": 8, "other": 4}, "buffer+image"))

    def test_the_table_holds_what_the_tool_writes(self):
        rows = twins.read_table()
        self.assertTrue(rows)
        self.assertEqual(list(rows[0]), twins.COLUMNS)
        known = {(v.family.kernel, v.words(), v.memory, "half" if v.half else "float") for v in variants()}
        for row in rows:
            self.assertIn(tuple(row[name] for name in twins.KEY[:4]), known)
            if row["isa"] != "adreno":
                self.assertIn(row["registers"], ("32", "64"))


if __name__ == "__main__":
    unittest.main()
