"""Each caution fires on three further forms of what it is for, and on none of what looks like it.

`benchmarks/quality/cautions.py variants` prints the table of these, of the forms that a caution was
written for, and of their clean twins.
"""

import numpy as np
import pandas as pd
import pytest

from psephos import check_table
from psephos.cautions import CAUTIONS, Given, cautions_on

N = 60
RNG = np.random.default_rng(7)
ROW = np.arange(N)
Y = RNG.permutation(np.repeat(["ill", "well"], N // 2))
ILL = Y == "ill"
NOISE = {name: RNG.normal(size=N) for name in ("crp", "wbc", "age")}
COLOURS = RNG.choice(["red", "green", "blue"], N)
DAYS = pd.to_datetime("2019-03-05") + pd.to_timedelta(RNG.integers(0, 900, N), "D")
DUTCH = [
    "januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september",
    "oktober", "november", "december",
]  # fmt: skip
MES = ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"]
LAB = NOISE["crp"] * 10 + 50
WIDE = RNG.normal(size=(N, 12))
SOME = [RNG.choice(99_999, N, replace=False) for _ in range(3)]
AGAIN = np.r_[SOME[0][:59], SOME[0][0]] + 4_000_000
CODED = 1000 + 37 * RNG.permutation(N)
ISSUED = 1000 + np.random.default_rng(1).choice(9000, 300, replace=False)
#: Hours a week: most people work 40; the widest gap of the others is 10.
WORKED = np.r_[3, 12, 15, 16, 20:29, 30, 32:39:2, 42:49:2, 50:81:5, 72, 73, [40] * 29][:N]
OLD = 20 + 7 * ROW % 50  # ages from 20 to 69
CENTRE = np.where(ROW < 5, 3 - np.where(ILL, 1, 2), np.where(ILL, 1, 2))
BODY = pd.DataFrame({name: np.abs(values) * 10 for name, values in NOISE.items()})
ONE_MORE = [*Y, "ill"]
ROUND = pd.DataFrame(WIDE[:, :6] * 4 + 26).add_prefix("lab").round(1)
SEVEN = pd.DataFrame(np.random.default_rng(990).normal(7, 2, (80, 6))).add_prefix("lab").round(2)
FEW = pd.DataFrame((WIDE > 1.5) * 1).add_prefix("taxon")  # the mean of each rounds to 0
TRIPLE = np.repeat(RNG.permutation(WIDE[:20, 0] * 40).round(2), 3)
ALIKE = pd.DataFrame(50 + 5 * WIDE[:, :1] + np.zeros(6)).add_prefix("nm").round()


WHO = np.array([f"{kind} {age}" for kind in ("Ana", "Eva", "Max") for age in ("A", "B", "C", "D")])


def frame(**columns):
    return pd.DataFrame({**NOISE, **columns})


def of(values, name="v"):
    return frame(**{name: values}), Y


def rows_called(form, first=1):
    return frame().set_index(pd.Index([form.format(i + first) for i in range(N)])), Y


def columns_called(form):
    return pd.DataFrame(WIDE, columns=[form.format(i) for i in range(12)]), Y


def below(*rows):
    return pd.concat([BODY, *(row.to_frame().T for row in rows)], ignore_index=True)


PERSON, VISIT = ROW // 3, ROW % 3
OF_PERSON = np.where(PERSON % 2, "ill", "well")


MIXED = np.random.default_rng(5).permutation(np.repeat(["a", "b"], 10))
RUNS = [*range(20), *range(20), *range(20, 25), *[3] * 15]
FULL = [f"{'Ana' if k % 2 else 'Rui'} {chr(97 + k)}a" for k in RUNS]


def indexed(form, y, numbers=PERSON):
    words = [form.format(i, k + 1, "abc"[k]) for i, k in zip(numbers, VISIT, strict=True)]
    return frame().set_index(pd.Index(words)), y


def grouped(form, other):
    return [(form, other)[i % 3 == 1].format(i // 3) for i in range(N)]


# Of each code: forms on which it fires, and forms on which it does not.
VARIANTS = {
    "FD001": (
        [of([f"{d.day} {DUTCH[d.month - 1]} {d.year}" for d in DAYS]),
         of([int(f"{d:%d%m%Y}") for d in DAYS]),
         of([(d - pd.Timestamp("1899-12-30")).days for d in DAYS], "visitDate"),
         of([f"{d.year}年{d.month}月{d.day}日" for d in DAYS]), of([f"{d:%m/%Y}" for d in DAYS]),
         of([f"{d:%b-%y}" for d in DAYS]), of([f"{d.day}. {d:%B}" for d in DAYS]),
         of(RNG.integers(17_000, 39_000, N), "Geburtsdatum"),
         of([f"{i % 24:02}:{7 * i % 60:02}" for i in ROW]),
         of([f"00:{1 + i % 50:02}" for i in ROW]),
         *(of([form.format(MES[i % 12], 1 + i % 28) for i in ROW]) for form in (
            "{1:02}/{0}/2021", "{1}.{0}.2021", "2021/{0}/{1:02}", "{0}/2021", "2021-{0}", "{0}/21",
            "{0}-21", "{1}/{0}", "{0}/{1:02}/2021"))],
        [of([f"set-{i % 20 + 10}" for i in ROW]), of(np.array(MES)[ROW % 12]),
         of(RNG.integers(18, 90, N)), of(RNG.choice(["1/2", "3/4", "T2-N1"], N)),
         of(RNG.choice(["may be", "march cell"], N)), of(RNG.choice(["marker 12", "decoy-20"], N)),
         of(RNG.integers(35_000, 45_000, N), "income"),
         of(RNG.integers(17_000, 39_000, N), "days of update"),
         of(np.array(["02:01", "24:02", "03:01", "11:01"])[ROW % 4]),
         of(np.array(["02:01:01", "68:01:02", "15:18"])[ROW % 3])],
    ),
    "FD002": (
        [of([f"Müller, {chr(65 + i % 26)}{i}." for i in ROW]), of([f"a{i}@b.org" for i in ROW]),
         of([f"pain since day {i}" if i % 3 else "none" for i in ROW]),
         of([f"no pain on day {i // 2 if i < 50 else 0}" for i in ROW])],
        [of([f"ward {i % 12}" for i in ROW]), of(COLOURS)],
    ),
    "FD003": (
        [of(N - ROW), of(1001 + ROW + 3 * (ROW > 20)),
         of([f"{i + 1:04}" for i in ROW]), of(np.where(ROW == 5, np.nan, ROW + 1)),
         of(np.where(ROW % 12 == 0, np.nan, 1001 + ROW)), of(np.where(ROW < 2, np.nan, N - ROW)),
         of(np.where(ROW == 5, np.nan, 1 + 7 * ROW % N))],
        [of(np.sort(RNG.integers(20, 80, N))), of(np.sort(RNG.normal(50, 9, N)).round(1)),
         of(np.where(ROW % 3, np.nan, ROW + 1)), of(np.where(ROW == 5, np.nan, 7 * ROW % 50))],
    ),
    "FD004": (
        [of(ROW + 1, "...1"), of(ROW + 1, "rownames"), of(np.r_[ROW[:30], ROW[30:] + 40], "X"),
         of(SOME[0], "row.names"), of(SOME[0], "__index_level_0__")],
        [of(NOISE["crp"] + 1, "index"), of(RNG.integers(0, 9, N), "X"), of(SOME[0], "x"),
         of(SOME[0], "number")],
    ),
    "FD005": (
        [of(np.random.default_rng(7).choice(90_000_000, N, replace=False) + 10_000_000),
         of(31_000_000 + SOME[1]), of(SOME[0], "PatientID"), of(SOME[1], "Fallnummer"),
         of(SOME[2], "SUBJID"), of(SOME[0], "uid"), of(SOME[0], "numéro"), of(SOME[0], "N°"),
         of(SOME[0], "nr"), of(SOME[0], "numero_dossier"),
         of(np.where(ROW < 3, np.nan, SOME[2]), "pid"),
         of(np.where(ROW == 9, np.nan, 31_000_000.0 + SOME[1])),
         *(of(AGAIN, name) for name in ("patient_id", "Fallnummer", "Hasta No", "MRN")),
         *(of(CODED, name) for name in (
            "folio", "Cédula", "matrícula", "Prontuário", "N° registro", "legajo", "n_historia",
            "NHC", "DNI", "RUT", "Aktenzeichen", "identifiant", "respondent", "Fragebogen",
            "Nº Processo", "cuestionario", "utente", "num_patient", "encuestado", "Kind",
            "código del paciente")),
         (pd.DataFrame({"q": ISSUED}), np.tile(Y, 5)),
         (pd.DataFrame({"q": ISSUED * 10}), np.arange(300.0))],
        [*(of(CODED, name) for name in (
            "weight cow", "cost_case", "cost per patient", "points", "processos", "Legierung")),
         *((pd.DataFrame({"q": values}), np.tile(Y, 5)) for values in (
            np.sort(ISSUED), ISSUED - 1000, np.r_[ISSUED[:299], ISSUED[0]], ISSUED**2 // 1000,
            (5000 + 900 * np.random.default_rng(2).normal(size=300)).round())),
         (pd.DataFrame({"q": ISSUED}), ISSUED * 2.0),
         of(AGAIN, "reads"), of(AGAIN, "zip_code"), of(AGAIN // 1000, "key"), of(AGAIN % 100, "id"),
         of(SOME[0], "fluid"), of(SOME[0], "n"), of(SOME[0], "number"),
         of(5_400_000 + SOME[1], "northing"), of(RNG.integers(90_000, 490_000, N), "platelets"),
         of((5e7 * np.exp(np.random.default_rng(5).normal(0, 0.25, N))).round(), "reads"),
         of((5e7 * (1 + np.random.default_rng(6).normal(0, 0.15, N))).round(), "reads")],
    ),
    "FD006": (
        [of(-(2**55) - RNG.integers(0, 999, N)), of([2**64 + int(i) * 12345 for i in ROW]),
         of(np.where(ROW == 3, np.nan, 1e16 + ROW * 12.0))],
        [of(RNG.integers(0, 2**52, N)), of(1e18 * RNG.integers(1, 9, N))],
    ),
    "FD007": (
        [(frame(), np.where(ROW % 6, Y, "don't know")),
         (frame(), np.where(ROW % 6, Y, "unbekannt")),
         of(np.where(ROW < 4, -999, np.exp(RNG.normal(5, 1.5, N)))),
         of(np.where(ROW < 4, 999.9, LAB)), of(np.where(ROW < 3, 9, RNG.integers(0, 2, N))),
         of(np.where(ROW < 2, -999, np.where(ROW < 4, -888, LAB))),
         of(np.where(ROW % 9 == 0, -1, 40 + RNG.integers(0, 30, N))),
         of(np.where(ROW % 15 == 0, 9, 1 + ROW % 5)), of(np.where(ROW % 15 == 0, 9, ROW % 6)),
         of(np.where(ROW < 8, 8 + ROW % 2, ROW % 5)), of(np.where(ROW < 8, -8 - ROW % 2, LAB)),
         of(np.where(ROW < 2, 8888, LAB)), of(np.where(ROW < 4, -998 - ROW % 2, LAB - 60)),
         of(np.where(ROW < 6, 97 + ROW % 2, RNG.poisson(6, N))), of(np.where(ROW < 2, -1000, LAB)),
         of(np.where(ROW < 9, -1, RNG.poisson(6, N))), of(np.where(ROW < 6, 99, OLD), "age"),
         of(np.where(ROW >= 54, 99, WORKED), "hours"),
         *(of(np.where(ROW % 9, COLOURS, word)) for word in (
            "unknown", "Desconhecido", "inconnue", "unbekannt", "desconocido", "sconosciuto",
            "Bilinmiyor", "onbekend", "Não sabe", "k. A.", "NS/NC", "s/ dados"))],
        [*(of(np.where(ROW % 9, COLOURS, word)) for word in ("none", "no", "known", "weiß")),
         of(RNG.integers(0, 100, N)), of(np.exp(RNG.normal(3, 2, N))),
         of(np.where(ROW % 15 == 0, 9, 1 + ROW % 7)), of(np.where(ROW < 2, 9, 1 + ROW % 5)),
         of(np.where(ROW < 1, 99, OLD)), of(np.where(ROW >= 58, 99, WORKED)),
         of(np.where(ROW < 6, 99, 5 * (OLD // 5))), of(np.where(ROW < 6, 78, OLD)),
         of(94 + ROW % 6), of(ROW % 5 - 2), of(np.where(ROW < 1, 8888, LAB)), of(ROW % 12 - 1),
         of(RNG.normal(-1, 0.4, N).round()), of(np.where(ROW < 4, 0, RNG.poisson(3, N)))],
    ),
    "FD008": (
        [of(np.where(ROW == 4, np.nan, np.where(ILL, 1.0, 0.0))),
         of(np.where(ROW % 5, np.where(ILL, "yes", "no"), np.where(ILL, "Yes ", "NO"))),
         of(np.where(ROW == 4, None, np.where(ILL, "krank", "gesund")))],
        [of(np.where(ROW < 3, 1 - ILL, ILL)), of(COLOURS),
         of(np.where(ROW % 2, np.nan, ILL * 1.0))],
    ),
    "FD009": (
        [of(np.where(ILL, LAB, np.nan)),
         of(np.where(ROW % 10, np.where(ILL, 300, 0) + LAB, np.nan)),
         of(np.where(ILL, RNG.choice(["C50.1", "C61"], N), RNG.choice(["Z00", "none"], N)))],
        [of(np.where(ROW % 20, COLOURS, None)), of(np.where(ROW % 2, LAB, np.nan))],
    ),
    "FD010": (
        [(frame(who=[f"m{k}" for k in PERSON], run=VISIT), Y),
         (frame(who=[f"m{k}" for k in PERSON], run=3 - VISIT), Y),
         (indexed("m{0}_{1}", Y)[0].assign(run=VISIT), Y),
         (frame(who=[f"m{k}" for k in PERSON], run=[f"V{k}" for k in VISIT]), Y),
         (frame(who=[f"m{k}" for k in PERSON], run=[f"Visit {k + 1}" for k in VISIT]), Y)],
        [(frame(run=VISIT), Y), (frame(who=[f"m{k}" for k in PERSON], run=VISIT * 2), Y),
         (frame(who=[f"m{k}" for k in PERSON], run=[f"{'vw'[k % 2]}{k}" for k in VISIT]), Y),
         (frame(who=[f"m{k}" for k in PERSON], run=(ROW + ROW // 9) % 4), Y)],
    ),
    "FD012": (
        [(frame(**{name: ROW % 5}), Y)
         for name in ("louvain", "leiden_res0.5", "RNA_snn_res.0.8", "seurat_clusters")],
        [(frame(**{name: ROW % 5}), Y) for name in ("cluster", "cell_type", "res", "n_snn")],
    ),
    "FD013": (
        [of(np.take(words, ROW % len(words)))
         for words in (["cough, fever", "fever", "cough, rash", "fever, rash, cough"],
                       ["GO:1|GO:2", "GO:2", "GO:1|GO:3", "GO:2|GO:3", "GO:3"],
                       ["1; 3", "2;3;4", "1", "4", "3;4", "2"])],
        [of(np.take(words, ROW % len(words)))
         for words in (["Paris, France", "Lyon, France", "Nice, France", "Rome"],
                       ["a;b", "a;c", "b;c", "c;d"], ["Dr, Ann", "Mr, Bob", "Mrs, Eve, jr"])],
    ),
    "FD011": (
        [(frame(Nome=FULL), Y), of(FULL), of([f"street {k}" for k in RUNS]),
         (pd.concat([frame()] * 5).assign(**{"İsim": np.tile([f"A. {k}ay" for k in RUNS], 5)}),
          [*Y] * 5),
         *((pd.concat([frame()] * 5).assign(**{name: np.tile([f"A. {k}ay" for k in RUNS], 5)}),
            [*Y] * 5) for name in ("adsoyad", "Имя", "Фамилия", "姓名"))],
        [(frame(street=[f"street {k % 12}" for k in ROW]), Y), of([f"a{i}@b.org" for i in ROW]),
         (pd.concat([frame()] * 5).assign(v=np.tile([f"A. {k}ay" for k in RUNS], 5)), [*Y] * 5),
         (frame(name=COLOURS), Y), of([f"2021-03-{1 + k:02}" for k in RUNS])],
    ),
    "FD021": (
        [(frame(), np.repeat(["a", "b"], 30), ROW // 2),
         (frame(), np.repeat(["a", "b"], 30), ROW % 6),
         (frame(w=[f"K{k:02}" for k in PERSON // 2 * 7 + ROW % 7]), np.repeat(["a", "b"], 30)),
         (frame(), np.repeat(np.tile(["a", "b"], 5), 6)), (frame(), np.repeat(["a", "b", "c"], 20)),
         (frame(), np.r_[["a"] * 20, ["b"] * 25, ["a"] * 15])],
        [*((frame(**{name: 101 + PERSON}), MIXED[PERSON]) for name in ("sujet", "Kind")),
         (frame(), MIXED[PERSON], PERSON), indexed("S{0:02}_{1}", MIXED[PERSON]),
         (frame(), np.tile(["a", "b"], 30)), (frame(), RNG.choice(["a", "b"], N, p=[0.9, 0.1]))],
    ),
    "FD022": (
        [(frame(), [*["rare"] * 4, *Y[4:]]), (frame(), np.where(ROW < 3, 2, ROW % 2)),
         (frame(), ["one", *["two"] * 2, *Y[3:]])],
        [(frame(), [*["rare"] * 5, *Y[5:]]), (frame(), ROW % 5)],
    ),
    "FD023": (
        [of(CENTRE, "ChargenNr"), of(CENTRE, "Zentrum-ID"), of(CENTRE, "flowcell"),
         of(CENTRE, "hôpital"), of(CENTRE, "Gerät"), of(CENTRE, "flow_cell"),
         of(np.char.add("B", CENTRE.astype(str)), "Charge"),
         of(np.array(["", "Leiden", "Colorado"])[CENTRE], "site")],
        [of(CENTRE, "template"), of(RNG.permutation(CENTRE), "plate"), of(CENTRE, "charge"),
         of(np.array(["", "colon", "upper rectum"])[CENTRE], "site"),
         of(np.array(["", "Left", "Right"])[CENTRE], "tumour_site")],
    ),
    "FD024": (
        [(frame(**{"Patienten-Nr.": 1 + ROW // 2}), np.where(ROW // 2 < 14, "ill", "well")),
         (frame(w=[f"m{k}" for k in ROW // 4]), np.where(ROW // 4 % 2, "ill", "well")),
         (frame(donor=[f"d{k}" for k in ROW // 3]), np.where(ROW // 3 % 3 == 0, "ill", "well")),
         of(700_213 + 7 * PERSON),
         *((frame(**{name: 1 + PERSON}), Y) for name in (
            "Kennung", "Fallnummer", "Fall-Nr.", "Hasta No", "kod pacjenta", "ID do paciente",
            "codice paziente", "Patiëntnummer", "Probandennummer", "numer uczestnika", "malade",
            "élève", "alumno", "enfant", "Kind", "individu", "probando", "VP", "cliente", "Tier",
            "legajo", "患者ID", "Nº HC", "Номер пациента", "病历号", "Číslo pacienta",
            "Rodné číslo", "Broj pacijenta", "Beteg azonosító", "Potilasnumero",
            "Αριθμός ασθενούς")),
         (frame(donor=[f"D{1 + k % 4}" for k in ROW]), Y), (frame(groups=ROW % 14), Y),
         (frame(Kind=[f"K-{k}" for k in PERSON]), Y), (frame(alumno=WHO[ROW % 6]), Y),
         (frame(Fallnummer=np.r_[ROW[:48], ROW[:12]] + 40), Y)],
        [(frame(donor=WHO[ROW % 4]), Y), (frame(patient=np.array(["in", "out"])[ROW % 2]), Y),
         of([f"G{k:02}" for k in PERSON]), of([f"K{k:02}" for k in ROW % 15]),
         of([f"{5 * k}-{5 * k + 4}" for k in PERSON]), of(10_000 + PERSON), of(PERSON * 1.5),
         of([f"2021{1 + k % 9:02}{1 + k:02}" for k in PERSON]), of(20210101 + PERSON),
         *((frame(**{name: 1 + PERSON}), Y) for name in ("falls", "cost per patient", "plot")),
         (frame(HC=1 + PERSON), Y), (frame(groups=ROW % 4), Y), (frame(group=ROW % 14), Y),
         (frame(kind=WHO[ROW % 12]), Y), (frame(tier=WHO[ROW % 6]), Y),
         (frame(enfant=RNG.poisson(2, N)), Y), (frame(Kinder=1 + PERSON), Y),
         (frame(dose=1 + ROW // 2), np.where(ROW // 2 < 14, "ill", "well")),
         (frame(ward=[f"w{k}" for k in ROW // 12]), np.where(ROW // 12 % 2, "ill", "well"))],
    ),
    "FD025": (
        [indexed("S{0:02}_{1}", OF_PERSON), indexed("{0}-{2}", OF_PERSON),
         indexed("{0}{2}", OF_PERSON), indexed("TCGA-02-{0:04}-0{1}", OF_PERSON),
         indexed("m {0} day{1}", OF_PERSON), indexed("{0}{2}.png", OF_PERSON),
         indexed("P{0}_t{1}.nii.gz", OF_PERSON), indexed("S{0:02}_{1}_bold", OF_PERSON),
         indexed("{0}", OF_PERSON, 1001 + 10 * PERSON + VISIT + (ROW % 7 == 1)),
         (frame().set_index(pd.Index([f"KF{k:02}" for k in PERSON])), Y),
         indexed("S{0:02}_{1}", Y), indexed("S{0:02}_{1}.png", Y)],
        [rows_called("P{:03}.png"),
         indexed("{0}", OF_PERSON, 1001 + 10 * PERSON + 4 * VISIT),
         indexed("{0}", OF_PERSON, 1001 + 3 * ROW),
         indexed("sample {0}{1}", OF_PERSON),
         (frame().set_index(pd.Index([f"town {chr(97 + k)}" for k in PERSON])), Y),
         (frame().set_index(pd.Index([f"2021-{i:03}" for i in ROW])), OF_PERSON),
         (frame().set_index(pd.Index([f"P{i:04}_1" for i in ROW])), OF_PERSON)],
    ),
    "FD026": (
        [(frame(), TRIPLE, ROW), (frame(), TRIPLE, VISIT), (frame(), TRIPLE),
         (frame(), np.r_[TRIPLE[:57], TRIPLE[:3]]), (frame(), TRIPLE * 1.7 + 3)],
        [(frame(), TRIPLE.round()), (frame(), TRIPLE[::3][RNG.integers(0, 20, N)]),
         (frame(), PERSON / 2), (frame(), NOISE["crp"]), (frame(), TRIPLE, PERSON),
         (frame(), np.r_[TRIPLE[:57], TRIPLE[:3]], PERSON)],
    ),
    "FD027": (
        [*((frame(w=[form.format(k) for k in PERSON]), Y) for form in (
            "KF{:02}", "P-{:03}", "m {}", "TCGA-02-{:04}", "G{:02}")),
         of([f"R{k:02}" for k in np.minimum(ROW // 3 + (ROW < 1), 19)])],
        [*((frame(**{name: [f"K{k:02}" for k in PERSON]}), Y) for name in ("well", "time_point")),
         of([f"K{k:02}" for k in RNG.integers(0, 20, N)]), of([f"K{k:02}" for k in ROW % 15]),
         (frame(donor=[f"d{k}" for k in PERSON]), Y), (frame(), Y, [f"G{k:02}" for k in PERSON]),
         (frame(w=[f"K{k:02}" for k in PERSON]), OF_PERSON), of([f"K{i:02}" for i in ROW])],
    ),
    "FD030": (
        [(frame(red=COLOURS), pd.Series(Y, name="ILL ")),
         (pd.DataFrame({"yes": RNG.choice(["yes", "no"], N), "red": COLOURS, "50.1": LAB}), Y),
         (pd.DataFrame({"5.1": LAB / 10, "0.2": NOISE["wbc"], "1.1": NOISE["age"]}), Y),
         (pd.DataFrame({"5.1": LAB / 10, "0.2": NOISE["wbc"]}), pd.Series(Y, name="ill"))],
        [(frame(), pd.Series(Y, name="ill")), columns_called("{}"),
         columns_called("10{:02}.5"), (frame(red=LAB, green=LAB + 1), Y),
         (pd.DataFrame(WIDE), pd.Series(Y, name="ill")),
         (pd.DataFrame(WIDE[:, :2]), pd.Series(Y, name="ill"))],
    ),
    "FD031": (
        [of(LAB, "_c4"), of(LAB, "column_5"), (frame(**{"dose": LAB, "dose.1": LAB * 2}), Y)],
        [of(LAB, "crp_1"), of(LAB, "AC005.1"),
         (pd.DataFrame(WIDE, columns=[f"{400 + i / 10:g}" for i in range(12)]), Y)],
    ),
    "FD032": (
        [rows_called("{}_at", 1007), rows_called("ASV{}"), columns_called("TCGA-AB-{:04}")],
        [rows_called("P{:03}"), columns_called("gene{}")],
    ),
    "FD033": (
        [(below(BODY.sum().where(BODY.columns != "age")), ONE_MORE),
         (below(BODY.sum(), BODY.mean()), [*ONE_MORE, "ill"]),
         (BODY.iloc[[*ROW, 2]].assign(who=[*(f"w{i % 5}" for i in ROW), "Summe:"]), ONE_MORE),
         *((BODY.iloc[[*ROW, 2]].assign(who=[*(f"w{i % 5}" for i in ROW), word]), ONE_MORE)
           for word in ("Genel Toplam", "Ogółem", "Ortalama", "Średnia", "Média", "Total geral")),
         *((pd.concat([ROUND, ROUND.mean().round(k).to_frame().T]), ONE_MORE) for k in (0, 1)),
         (pd.concat([SEVEN, SEVEN.mean().round(1).to_frame().T]), ["ill"] * 81),
         (pd.concat([ROUND.round(), ROUND.round().mean().round(1).to_frame().T]), ONE_MORE)],
        [(BODY.iloc[[*ROW, 2]].assign(who=[*(f"w{i % 5}" for i in ROW), "Mediaş"]), ONE_MORE),
         (below(BODY.iloc[3]), ONE_MORE), rows_called("mean{}"), (ROUND.round(), Y),
         (pd.concat([ROUND, ROUND.mean().round(1).to_frame().T + 0.2]), ONE_MORE),
         (pd.concat([FEW, FEW.mean().round().to_frame().T]), ONE_MORE),
         (pd.concat([ALIKE, ALIKE.mean().round().to_frame().T]), ONE_MORE),
         (pd.DataFrame(RNG.integers(0, 2, (N, 4))).rename(columns=str), Y)],
    ),
    "FD034": (
        [(frame(), np.where(ROW % 7, Y, "ill\u00a0")),
         (frame(), np.array(["0", "1", "1.0"])[ROW % 3]),
         (frame(), np.array(["smoker", "non-smoker", "nonsmoker"])[ROW % 3]),
         (frame(), np.array(["ER+", "ER +", "ER-"])[ROW % 3]),
         (frame(), np.array(["E. coli", "E.coli", "S. aureus"])[ROW % 3]),
         (frame(), np.array(["HER2 positive", "HER2-positive", "negative"])[ROW % 3])],
        [(frame(), np.where(ROW % 2, "01", "1")), (frame(), np.where(ROW % 2, "A-", "A")),
         (frame(), np.array(["1-2", "12", "1 2"])[ROW % 3]),
         (frame(), np.where(ROW % 2, "T -1", "T 1")),
         (frame(), np.where(ROW % 2, "HER2+", "HER2-"))],
    ),
    "FD035": (
        [of(LAB, "Sep-02"), of(LAB, "11. Mrz"), of(LAB, "1-Dec"), of(LAB, "2024-09-02"),
         of(LAB, "2-Sep-24"), of(LAB, "2.Sep.24"), of(LAB, "02.09.2024"), of(LAB, "9/2/24")],
        [of(LAB, "MARCH1"), columns_called("{}-Mar"), of(LAB, "2024-09-20"), of(LAB, "2024-10-02"),
         of(LAB, "1.9.20"), of(LAB, "9/20/24"), of(LAB, "2/10/2024")],
    ),
    "FD036": (
        [(*of(LAB), grouped(form, other)) for form, other in (
            ("P{0}", "P-{0}"), ("{0}", "{0}.0"), ("{0}", "00{0}"), ("site 1 {0}", "Site 1  {0}"))],
        [(*of(LAB), grouped(form, other)) for form, other in (
            ("P{0}", "P{0}"), ("1.5{0}", "1.05{0}"), ("1-{0}", "1{0}"), ("A{0}", "A{0}-"))],
    ),
}  # fmt: skip

Q = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
GLUCOSE, CELSIUS, YEARS = (
    lambda rng, n: rng.normal(100, 15, n), lambda rng, n: rng.normal(36.9, 0.6, n),
    lambda rng, n: rng.normal(55, 12, n),
)  # fmt: skip
COUNTS = lambda rng, n: np.exp(rng.normal(7, 1.2, n))  # noqa: E731
# Of each code: what a column holds in the fit, and what is done to it in new cases.
NEW_CASES = {
    "FD040": (
        [(CELSIUS, lambda x: x + 9), (GLUCOSE, lambda x: x - 400), (COUNTS, lambda x: -x - 1)],
        [(GLUCOSE, lambda x: x + 15), (CELSIUS, lambda x: x + 0.6)],
    ),
    "FD041": (
        [(CELSIUS, lambda x: 1.8 * x + 32), (COUNTS, lambda x: np.log2(1 + x)),
         (YEARS, lambda x: x * 12), (GLUCOSE, lambda x: x / 1000)],
        [(GLUCOSE, lambda x: x + 15), (CELSIUS, lambda x: x + 9), (COUNTS, lambda x: x * 1.5),
         (GLUCOSE, lambda x: x + 60), (GLUCOSE, lambda x: x + 100), (GLUCOSE, lambda x: x * 2)],
    ),
}  # fmt: skip


def fires(code, case):
    if code not in NEW_CASES:
        X, y, groups = [*case, None][:3]
        return code in [one.code for one in check_table(X, y, groups=groups)]
    (measured, change), rng = case, np.random.default_rng(3)
    known = np.quantile(measured(rng, 300), Q)[None]
    given = Given(change(measured(rng, 40))[:, None], ("a",), quantiles=known)
    return code in [one.code for one in cautions_on(given, NEW_CASES)]


EVERY = VARIANTS | NEW_CASES
DIRTY, CLEAN = (
    [(code, k) for code, both in EVERY.items() for k in range(len(both[i]))] for i in (0, 1)
)


@pytest.mark.parametrize(("code", "k"), DIRTY)
def test_a_further_form_is_found(code, k):
    assert fires(code, EVERY[code][0][k])


@pytest.mark.parametrize(("code", "k"), CLEAN)
def test_what_looks_like_it_is_not(code, k):
    assert not fires(code, EVERY[code][1][k])


def test_all_cautions_have_three():
    assert EVERY.keys() | {"FD020"} == CAUTIONS.keys()  # of replicates: test_replicates.py
    assert min(len(dirty) for dirty, _ in EVERY.values()) >= 3
