"""Configs of the study's device with a disk of another speed, for fmplan and fmsim."""

from effective_config import EffectiveConfig
from planned_trace import phone_file


def disk_setting(speed):
    return {"storage.read_bandwidth": speed}


def disk_variant(work, speed):
    """The file of the device with its curve of disk bandwidths scaled so that the plateau is `speed` ("1GB/s")."""
    settings = disk_setting(speed)
    words = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    text = phone_file(work.device, settings, EffectiveConfig(work.tools.config_text(work.device, tuple(words))))
    folder = work.points.folder / "configs"
    folder.mkdir(exist_ok=True)
    path = (folder / f"{work.device}-disk-{speed.replace('/', 'p')}.yaml").resolve()
    path.write_text(text)
    return str(path)
