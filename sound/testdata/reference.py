# Computes what torchaudio and scipy have for recordings, in float64: reference.py FOLDER
#
# FOLDER/cases has a line for each case: a convention and a number of samples, or "resample" with two rates and a number of samples, or "window"
# with a name, "periodic" or "symmetric", and a length. FOLDER/samples has the samples of all cases, float32. FOLDER/results gets the numbers of all cases, float64, and
# FOLDER/shapes a line of rows and columns for each.
import math
import sys

import numpy as np
import scipy.signal
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
import torchaudio
import torchaudio.compliance.kaldi as kaldi
import torchaudio.functional as F


def fbank(x, gain, **more):
    return kaldi.fbank(x[None] * gain, sample_frequency=16000, dither=0.0, **more)


def decibels(power):
    return F.amplitude_to_DB(power, 10.0, 1e-10, 0.0)


def below(x, far):
    return torch.maximum(x, x.max() - far)


# The steps of whisper/audio.py by its text: a centred STFT without its last frame, Slaney's bank, log10, the floor 8 below the largest.
def whisper(x, bands):
    x = torch.nn.functional.pad(x, (0, max(0, 480000 - len(x))))[:480000]
    spectrum = torch.stft(x, 400, 160, window=torch.hann_window(400), return_complex=True)[:, :-1].abs() ** 2
    bank = F.melscale_fbanks(201, 0.0, 8000.0, bands, 16000, "slaney", "slaney")
    return (below((bank.T @ spectrum).clamp(min=1e-10).log10(), 8.0) + 4) / 4


# librosa's melspectrogram by its text, on the STFT of scipy.
def librosa(x):
    window = scipy.signal.get_window("hann", 2048)
    _, _, z = scipy.signal.stft(np.concatenate([x.numpy(), np.zeros(2048)]), 1.0, window, 2048, 2048 - 512, boundary="zeros", padded=False)
    power = torch.from_numpy(np.abs(z[:, : 1 + len(x) // 512] * window.sum()) ** 2)
    return F.melscale_fbanks(1025, 0.0, 11025.0, 128, 22050, "slaney", "slaney").T @ power


# tf.signal's linear_to_mel_weight_matrix and VGGish's mel_features.py by their texts.
def vggish(x, floor):
    x = x.numpy()
    mel = lambda f: 1127.0 * np.log(1.0 + np.asarray(f) / 700.0)
    edges = np.linspace(mel(125.0), mel(7500.0), 66)
    bins = mel(np.arange(257) * 16000 / 512)[:, None]
    bank = np.maximum(0.0, np.minimum((bins - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - bins) / (edges[2:] - edges[1:-1])))
    if len(x) < 400:
        return torch.zeros(0, 64)
    frames = np.lib.stride_tricks.sliding_window_view(x, 400)[::160]
    return torch.from_numpy(np.log(np.abs(np.fft.rfft(frames * scipy.signal.get_window("hann", 400), 512)) @ bank + floor))


# The steps of NeMo's FilterbankFeatures by its text, without dither and without frames that fill a batch.
def nemo(x, bands):
    n = len(x) // 160
    x = torch.cat((x[:1], x[1:] - 0.97 * x[:-1]))
    power = torch.stft(x, 512, 160, 400, torch.hann_window(400, periodic=False), center=True, pad_mode="constant", return_complex=True)[:, :n].abs() ** 2
    logs = torch.log(F.melscale_fbanks(257, 0.0, 8000.0, bands, 16000, "slaney", "slaney").T @ power + 2**-24)
    deviation = logs.std(1, keepdim=True) if n > 1 else torch.zeros(bands, 1)
    return (logs - logs.mean(1, keepdim=True)) / (deviation + 1e-5)


# The layers of openWakeWord's melspectrogram.onnx, and its "/10 + 2".
def openwakeword(x):
    if len(x) < 512:
        return torch.zeros(0, 32)
    window = torch.nn.functional.pad(torch.hann_window(400), (56, 56))
    power = torch.stft(x * 32768, 512, 160, window=window, center=False, return_complex=True).abs() ** 2
    bank = F.melscale_fbanks(257, 60.0, 3800.0, 32, 16000, "slaney", "slaney")
    return below(decibels(power.T @ bank), 80.0) / 10 + 2


mel = torchaudio.transforms.MelSpectrogram()
mfcc = torchaudio.transforms.MFCC()
ways = {
    "whisper": lambda x: whisper(x, 80),
    "whisper-128": lambda x: whisper(x, 128),
    "kaldi": lambda x: fbank(x, 32768, num_mel_bins=80),
    "kaldi-mfcc": lambda x: kaldi.mfcc(x[None] * 32768, sample_frequency=16000, dither=0.0),
    "icefall": lambda x: fbank(x, 1, num_mel_bins=80, snip_edges=False, high_freq=-400),
    "funasr": lambda x: fbank(x, 32768, num_mel_bins=80, window_type="hamming"),
    "ast": lambda x: (fbank(x, 1, num_mel_bins=128, window_type="hanning") + 4.2677393) / (2 * 4.5689974),
    "librosa": librosa,
    "librosa-mfcc": lambda x: F.create_dct(20, 128, "ortho").T @ below(decibels(librosa(x)), 80.0),
    "torchaudio": lambda x: mel(x),
    "torchaudio-mfcc": lambda x: mfcc(x[None])[0],
    "openwakeword": openwakeword,
    "nemo": lambda x: nemo(x, 80),
    "nemo-128": lambda x: nemo(x, 128),
    "vggish": lambda x: vggish(x, 0.01),
    "yamnet": lambda x: vggish(x, 0.001),
}

folder = sys.argv[1]
samples = np.fromfile(folder + "/samples", "<f4").astype(np.float64)
at = 0
with open(folder + "/results", "wb") as results, open(folder + "/shapes", "w") as shapes:
    for line in open(folder + "/cases"):
        name, *args = line.split()
        if name == "window":
            out = scipy.signal.get_window(("hamming" if args[0] == "hamming" else args[0]), int(args[2]), fftbins=args[1] == "periodic")[None]
        else:
            n = int(args[-1])
            x = torch.from_numpy(samples[at : at + n])
            at += n
            if name == "resample":
                out = F.resample(x[None], int(args[0]), int(args[1])).numpy()
            else:
                out = ways[name](x).numpy()
        out = np.atleast_2d(out)
        shapes.write("%d %d\n" % out.shape)
        results.write(np.ascontiguousarray(out, "<f8").tobytes())
