"""Compiles one compute shader with a Mesa driver and prints what the driver says: run as a child under drm-shim.

usage: driver.py SHADER.comp   (environment: see compile.py)
"""

import ctypes
import pathlib
import sys

EGL_OPENGL_ES_API = 0x30A0
EGL_PLATFORM_SURFACELESS = 0x31DD
EGL_CONTEXT_MAJOR, EGL_CONTEXT_MINOR, EGL_NONE = 0x3098, 0x30FB, 0x3038
GL_COMPUTE_SHADER = 0x91B9
GL_COMPILE_STATUS, GL_LINK_STATUS = 0x8B81, 0x8B82
GL_RENDERER, GL_VERSION = 0x1F01, 0x1F02


def make_context():
    egl = ctypes.CDLL("libEGL.so.1")
    pointer = ctypes.c_void_p
    egl.eglGetPlatformDisplay.restype = pointer
    egl.eglGetPlatformDisplay.argtypes = [ctypes.c_uint, pointer, pointer]
    egl.eglCreateContext.restype = pointer
    egl.eglCreateContext.argtypes = [pointer, pointer, pointer, ctypes.POINTER(ctypes.c_int)]
    egl.eglInitialize.argtypes = [pointer, pointer, pointer]
    egl.eglMakeCurrent.argtypes = [pointer, pointer, pointer, pointer]
    display = egl.eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS, None, None)
    if not egl.eglInitialize(display, None, None):
        sys.exit(f"eglInitialize: {egl.eglGetError():#x}")
    egl.eglBindAPI(EGL_OPENGL_ES_API)
    attributes = (ctypes.c_int * 5)(EGL_CONTEXT_MAJOR, 3, EGL_CONTEXT_MINOR, 1, EGL_NONE)
    context = egl.eglCreateContext(display, None, None, attributes)
    if not context or not egl.eglMakeCurrent(display, None, None, context):
        sys.exit(f"no OpenGL ES 3.1 context: {egl.eglGetError():#x}")


def log_of(get_log, thing):
    text = ctypes.create_string_buffer(65536)
    get_log(thing, len(text), None, text)
    return text.value.decode(errors="replace")


def check(gl, thing, get, get_log, status):
    value = ctypes.c_int()
    get(thing, status, ctypes.byref(value))
    if not value.value:
        sys.exit("the compiler refuses the shader:\n" + log_of(get_log, thing))


def main():
    source = pathlib.Path(sys.argv[1]).read_bytes()
    make_context()
    gl = ctypes.CDLL("libGLESv2.so.2")
    gl.glGetString.restype = ctypes.c_char_p
    print("RENDERER:", gl.glGetString(GL_RENDERER).decode(), flush=True)
    print("VERSION:", gl.glGetString(GL_VERSION).decode(), flush=True)
    shader = gl.glCreateShader(GL_COMPUTE_SHADER)
    text = ctypes.c_char_p(source)
    gl.glShaderSource(shader, 1, ctypes.byref(text), None)
    gl.glCompileShader(shader)
    check(gl, shader, gl.glGetShaderiv, gl.glGetShaderInfoLog, GL_COMPILE_STATUS)
    program = gl.glCreateProgram()
    gl.glAttachShader(program, shader)
    gl.glLinkProgram(program)
    check(gl, program, gl.glGetProgramiv, gl.glGetProgramInfoLog, GL_LINK_STATUS)


if __name__ == "__main__":
    main()
