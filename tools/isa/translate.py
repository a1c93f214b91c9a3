"""A kernel of the catalogue as a GLSL ES 3.10 compute shader: its own OpenCL C source under access_glsl.clh.

OpenCL C and GLSL share their statements; what differs is spelled out below: types, casts, the parameter list (uniforms,
samplers, storage buffers), local arrays (`shared`), and `const`, which in GLSL ES asks for a constant expression.
"""

import math
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent.parent / "kernels"

# Words that GLSL keeps for itself and the kernels use as names.
RESERVED = ["filter", "output", "input", "flat", "sample", "partition", "active", "common"]

# Compares lanes by a vector relation, which OpenCL C writes as an operator.
FIRST_LANES = """
vec4 fm_first_lanes(vec4 v, int valid, float otherwise) {
  return mix(vec4(otherwise), v, lessThan(ivec4(0, 1, 2, 3), ivec4(valid)));
}
"""

ACCESS_FUNCTIONS = """
float fm_lane_of(vec4 v, int lane) { return lane == 0 ? v.x : lane == 1 ? v.y : lane == 2 ? v.z : v.w; }
vec4 fm_load_half4(uvec2 v) { return vec4(unpackHalf2x16(v.x), unpackHalf2x16(v.y)); }
uvec2 fm_store_half4(vec4 v) { return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw)); }
"""

ELEMENT = {"buffer_half": "uvec2", "buffer_float": "vec4", "linear_float": "float", "linear_int": "int"}


class TranslationError(Exception):
    """The source uses something this translation does not know."""


def preprocess(kernel, defines, compiler="cc"):
    """The kernel's source with every macro expanded."""
    command = [compiler, "-E", "-P", "-xc", "-undef", "-nostdinc", "-I", str(KERNELS), "-include",
               str(HERE / "access_glsl.clh")]
    command += [f"-D{name}={value}" for name, value in defines.items()] + [str(KERNELS / f"{kernel}.cl")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise TranslationError(f"{kernel}: {done.stderr.strip()}")
    return done.stdout


def matching(text, start, opening, closing):
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return place
    raise TranslationError(f"unbalanced {opening}")


def without_function(text, name):
    found = re.search(r"inline \w+ " + name + r"\s*\(", text)
    if not found:
        return text, False
    body = text.index("{", matching(text, found.end() - 1, "(", ")"))
    return text[:found.start()] + text[matching(text, body, "{", "}") + 1:], True


def statements(text, half):
    """Types, casts and functions. `half`: accumulators are mediump, which Mesa computes in 16 bits."""
    text = re.sub(r"#pragma[^\n]*\n", "\n", text)
    text = re.sub(r"typedef [^;]*;", "", text)
    text = re.sub(r"\b(inline|const|restrict)\b ?", "", text)
    text = re.sub(r"\(fm_real4\)\s*\(", "vec4(", text)
    text = re.sub(r"\(float4\)\s*\(", "vec4(", text)
    text = re.sub(r"\(int4\)\s*\(", "ivec4(", text)
    text = re.sub(r"\((float|int)\)\s*\(", r"\1(", text)
    text = re.sub(r"\((float|int)\)\s*(\w+)", r"\1(\2)", text)
    text = re.sub(r"\b(fm_real4|float4) (\w+)\[(\d+)\] = \{(.*?)\};", r"\1 \2[\3] = vec4[\3](\4);", text, flags=re.S)
    text = re.sub(r"\bfm_real4\b", "mediump vec4" if half else "vec4", text)
    text = re.sub(r"\bfloat4\b", "vec4", text)
    for word in RESERVED:
        text = re.sub(rf"\b{word}\b", word + "_", text)
    return text


def constant(text):
    """The value of a loop's bound: a number or a product of numbers, after preprocessing."""
    factors = re.sub(r"[\s()]", "", text).split("*")
    if not all(factor.isdigit() for factor in factors):
        raise TranslationError(f"an unrolled loop with the bound `{text}`")
    return math.prod(map(int, factors))


def statement_end(text, start):
    """Behind the statement at `start`: a block, a loop with its statement, or up to a semicolon."""
    start += len(text[start:]) - len(text[start:].lstrip())
    if text[start] == "{":
        return matching(text, start, "{", "}") + 1
    if text.startswith("UNROLL", start):
        return statement_end(text, start + len("UNROLL"))
    if text.startswith("for", start):
        return statement_end(text, matching(text, text.index("(", start), "(", ")") + 1)
    return text.index(";", start) + 1


def unroll(text):
    """Loops behind UNROLL, as the source asks the compiler: Mesa's own unroller gives up on large bodies, and arrays
    that a loop indexes would then not lie in registers."""
    while True:
        found = None
        for found in re.finditer(r"\bUNROLL\s+for \(", text):
            pass
        if not found:
            return text
        close = matching(text, found.end() - 1, "(", ")")
        header = [part.strip() for part in text[found.end():close].split(";")]
        name, begin = re.fullmatch(r"int (\w+) = (.*)", header[0]).groups()
        end = re.fullmatch(name + r" < (.*)", header[1]).group(1)
        step = re.fullmatch(rf"\+\+{name}|{name} \+= (.*)", header[2]).group(1) or "1"
        stop = statement_end(text, close + 1)
        body = text[close + 1:stop]
        passes = [re.sub(rf"(?<!\.)\b{name}\b", str(value), body)
                  for value in range(constant(begin), constant(end), constant(step))]
        text = text[:found.start()] + "".join(f"{{ {one} }}\n" for one in passes) + text[stop:]


def declaration(parameter, bindings, half):
    """One parameter of the kernel as a declaration of the shader."""
    words = parameter.split()
    if words[0] in ("int", "float"):
        return f"uniform {words[0]} {words[1]};"
    if words[0] != "DECLARE":
        raise TranslationError(f"parameter `{parameter}`")
    _, kind, direction, name = words
    name = name.rstrip("_")
    group = "image_write" if kind == "image" and direction == "write" else "image" if kind == "image" else "buffer"
    binding = bindings[group] = bindings.get(group, -1) + 1
    if group == "image":
        precision = "mediump" if half else "highp"
        return f"layout(binding = {binding}) uniform {precision} sampler2D {name}_image;"
    if group == "image_write":
        return f"layout(rgba16f, binding = {binding}) writeonly uniform highp image2D {name}_image;"
    access = "readonly" if direction == "read" else "writeonly"
    return (f"layout(std430, binding = {binding}) {access} buffer block_{name} "
            f"{{ {ELEMENT[kind]} {name}_data[]; }};")


def translate(kernel, defines, local_size, half=False, compiler="cc"):
    """GLSL of the kernel. defines: its parameters and FM_KIND_<argument>; half: accumulators in 16 bits."""
    defines = dict(defines)
    if half:
        defines["FM_ACCUMULATE_HALF"] = 1
    text, had_first_lanes = without_function(preprocess(kernel, defines, compiler), "fm_first_lanes")
    found = re.search(r"__kernel void (\w+)\s*\(", text)
    if not found:
        raise TranslationError(f"{kernel}: no kernel in its source")
    end = matching(text, found.end() - 1, "(", ")")
    parameters = [" ".join(part.split()) for part in statements(text[found.end():end], half).split(",")]
    functions = statements(text[:found.start()], half)
    body = statements(unroll(text[text.index("{", end):]), half)
    shared = re.findall(r"SHARED\((\w+), (\w+), (.*?)\);", body, flags=re.S)
    body = re.sub(r"SHARED\(.*?\);", "", body, flags=re.S)
    bindings = {}
    lines = ["#version 310 es", "precision highp float;", "precision highp int;", "precision highp image2D;",
             "layout(local_size_x = {}, local_size_y = {}, local_size_z = {}) in;".format(*local_size)]
    lines += [declaration(parameter, bindings, half) for parameter in parameters if parameter]
    lines += [f"shared {kind} {name}[{count}];" for kind, name, count in shared]
    lines += [ACCESS_FUNCTIONS, FIRST_LANES if had_first_lanes else "", functions, "void main() " + body]
    return "\n".join(lines) + "\n"
